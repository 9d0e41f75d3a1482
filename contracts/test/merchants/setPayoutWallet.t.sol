// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract SetPayoutWalletTest is MarketTest {
    function test_succeeds_whenTheOwnerChooses() public {
        vm.expectEmit(address(merchants));
        emit MerchantRegistry.PayoutWalletSet(merchantId, stranger);
        vm.prank(merchant.addr);
        merchants.setPayoutWallet(merchantId, stranger);
        assertEq(merchants.payoutWallet(merchantId), stranger);
        assertTrue(merchants.isActive(merchantId));
    }

    function test_succeeds_beforeTheMerchantWasEverOpened() public {
        vm.prank(reviewer.addr);
        merchants.setPayoutWallet(reviewerAgentId, stranger);
        assertEq(merchants.payoutWallet(reviewerAgentId), stranger);
        assertFalse(merchants.isActive(reviewerAgentId));
    }

    function test_reverts_whenTheWalletIsZero() public {
        vm.expectRevert(abi.encodeWithSelector(MerchantRegistry.ZeroPayoutWallet.selector, merchantId));
        vm.prank(merchant.addr);
        merchants.setPayoutWallet(merchantId, address(0));
    }

    function test_reverts_whenNotTheOwnerCalls() public {
        vm.expectRevert(abi.encodeWithSelector(MerchantRegistry.NotMerchantOwner.selector, stranger, merchantId));
        vm.prank(stranger);
        merchants.setPayoutWallet(merchantId, stranger);
    }
}

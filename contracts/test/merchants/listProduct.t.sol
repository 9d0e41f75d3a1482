// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract ListProductTest is MarketTest {
    bytes32 private constant OTHER = keccak256("other");
    MerchantRegistry.ProductType private constant REPEAT = MerchantRegistry.ProductType.Repeat;
    MerchantRegistry.ProductType private constant ONE_OFF = MerchantRegistry.ProductType.OneOff;

    /// [CHAIN-33]
    function test_succeeds_whenTheOwnerLists() public {
        vm.expectEmit(address(merchants));
        emit MerchantRegistry.ProductListed(merchantId, OTHER, 500, 7, ONE_OFF, "ipfs://other");
        vm.prank(merchant.addr);
        merchants.listProduct(merchantId, OTHER, 500, 7, ONE_OFF, "ipfs://other");
        MerchantRegistry.Product memory product = merchants.getProduct(merchantId, OTHER);
        assertTrue(product.listed);
        assertTrue(product.active);
        assertEq(product.commissionBps, 500);
        assertEq(product.minPrice, 7);
    }

    /// [CHAIN-36]
    function test_succeeds_whenTypesAreZeroAndOne() public {
        list(merchant.addr, OTHER, 500, ONE_OFF);
        assertEq(uint256(merchants.getProduct(merchantId, PRODUCT).productType), 0);
        assertEq(uint256(merchants.getProduct(merchantId, OTHER).productType), 1);
        assertEq(uint256(REPEAT), 0);
        assertEq(uint256(ONE_OFF), 1);
    }

    /// [CHAIN-36]
    function test_reverts_whenTheTypeIsNeither() public {
        bytes memory call = abi.encodeWithSelector(
            merchants.listProduct.selector, merchantId, OTHER, uint16(500), uint64(0), uint256(2), "ipfs://other"
        );
        vm.prank(merchant.addr);
        (bool success,) = address(merchants).call(call);
        assertFalse(success);
        assertFalse(merchants.getProduct(merchantId, OTHER).listed);
    }

    /// [CHAIN-35]
    function test_reverts_whenListedBefore() public {
        expectAlreadyListed();
        list(merchant.addr, PRODUCT, COMMISSION_BPS, ONE_OFF);
        vm.prank(merchant.addr);
        merchants.setProductActive(merchantId, PRODUCT, false);
        expectAlreadyListed();
        list(merchant.addr, PRODUCT, COMMISSION_BPS, ONE_OFF);
    }

    /// [CHAIN-37]
    function test_succeeds_whenTheCommissionIsAtItsBound() public {
        list(merchant.addr, OTHER, 10_000, REPEAT);
        assertEq(merchants.getProduct(merchantId, OTHER).commissionBps, 10_000);
    }

    /// [CHAIN-37]
    function testFuzz_reverts_whenTheCommissionIsAboveItsBound(uint16 commissionBps) public {
        commissionBps = uint16(bound(commissionBps, 10_001, type(uint16).max));
        vm.expectRevert(
            abi.encodeWithSelector(MerchantRegistry.CommissionTooHigh.selector, commissionBps, 10_000)
        );
        list(merchant.addr, OTHER, commissionBps, REPEAT);
    }

    function test_succeeds_whenTwoMerchantsListTheSameId() public {
        vm.prank(reviewer.addr);
        merchants.listProduct(reviewerAgentId, PRODUCT, 1, 0, ONE_OFF, "");
        assertEq(merchants.getProduct(merchantId, PRODUCT).commissionBps, COMMISSION_BPS);
        assertEq(merchants.getProduct(reviewerAgentId, PRODUCT).commissionBps, 1);
    }

    function test_reverts_whenNotTheOwnerLists() public {
        vm.expectRevert(abi.encodeWithSelector(MerchantRegistry.NotMerchantOwner.selector, stranger, merchantId));
        list(stranger, OTHER, 500, REPEAT);
    }

    function list(address caller, bytes32 productId, uint16 commissionBps, MerchantRegistry.ProductType productType)
        private
    {
        vm.prank(caller);
        merchants.listProduct(merchantId, productId, commissionBps, 0, productType, "");
    }

    function expectAlreadyListed() private {
        vm.expectRevert(
            abi.encodeWithSelector(MerchantRegistry.ProductAlreadyListed.selector, merchantId, PRODUCT)
        );
    }
}

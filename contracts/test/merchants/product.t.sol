// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";

/// @notice What may change about a product, and what a sale reads.
contract ProductTest is MarketTest {
    bytes32 private constant OTHER = keccak256("other");

    /// [CHAIN-34]
    function test_succeeds_whenTheOwnerClosesAndOpensAProduct() public {
        vm.expectEmit(address(merchants));
        emit MerchantRegistry.ProductActiveSet(merchantId, PRODUCT, false);
        vm.prank(merchant.addr);
        merchants.setProductActive(merchantId, PRODUCT, false);
        MerchantRegistry.Product memory product = merchants.getProduct(merchantId, PRODUCT);
        assertFalse(product.active);
        assertTrue(product.listed);
        vm.prank(merchant.addr);
        merchants.setProductActive(merchantId, PRODUCT, true);
        assertTrue(merchants.getProduct(merchantId, PRODUCT).active);
        buy();
    }

    /// [CHAIN-37]
    function test_succeeds_whenTheTermsChange() public {
        vm.expectEmit(address(merchants));
        emit MerchantRegistry.ProductTermsSet(merchantId, PRODUCT, 10_000, 3);
        vm.prank(merchant.addr);
        merchants.setProductTerms(merchantId, PRODUCT, 10_000, 3);
        assertEq(merchants.getProduct(merchantId, PRODUCT).commissionBps, 10_000);
        assertEq(merchants.getProduct(merchantId, PRODUCT).minPrice, 3);
    }

    /// [CHAIN-37]
    function test_reverts_whenTheNewCommissionIsAboveItsBound() public {
        vm.expectRevert(abi.encodeWithSelector(MerchantRegistry.CommissionTooHigh.selector, 10_001, 10_000));
        vm.prank(merchant.addr);
        merchants.setProductTerms(merchantId, PRODUCT, 10_001, 0);
    }

    function test_succeeds_whenTheCardMoves() public {
        vm.expectEmit(address(merchants));
        emit MerchantRegistry.ProductCardSet(merchantId, PRODUCT, "ipfs://moved");
        vm.prank(merchant.addr);
        merchants.setProductCard(merchantId, PRODUCT, "ipfs://moved");
    }

    /// [CHAIN-35]
    function test_succeeds_whenNoCallChangesTheType() public {
        vm.startPrank(merchant.addr);
        merchants.listProduct(merchantId, OTHER, 1, 0, MerchantRegistry.ProductType.OneOff, "");
        merchants.setProductActive(merchantId, OTHER, false);
        merchants.setProductActive(merchantId, OTHER, true);
        merchants.setProductTerms(merchantId, OTHER, 2, 0);
        merchants.setProductCard(merchantId, OTHER, "ipfs://moved");
        merchants.setActive(merchantId, false);
        vm.stopPrank();
        transferIdentity(merchant.addr, stranger, merchantId);
        assertEq(uint256(merchants.getProduct(merchantId, OTHER).productType), 1);
    }

    function test_reverts_whenTheProductIsNotListed() public {
        bytes memory notListed =
            abi.encodeWithSelector(MerchantRegistry.ProductNotListed.selector, merchantId, OTHER);
        vm.startPrank(merchant.addr);
        vm.expectRevert(notListed);
        merchants.setProductActive(merchantId, OTHER, true);
        vm.expectRevert(notListed);
        merchants.setProductTerms(merchantId, OTHER, 1, 0);
        vm.expectRevert(notListed);
        merchants.setProductCard(merchantId, OTHER, "");
        vm.stopPrank();
        assertFalse(merchants.getProduct(merchantId, OTHER).listed);
    }

    function test_reverts_whenNotTheOwnerCalls() public {
        bytes memory notOwner =
            abi.encodeWithSelector(MerchantRegistry.NotMerchantOwner.selector, stranger, merchantId);
        vm.startPrank(stranger);
        vm.expectRevert(notOwner);
        merchants.setProductActive(merchantId, PRODUCT, false);
        vm.expectRevert(notOwner);
        merchants.setProductTerms(merchantId, PRODUCT, 1, 0);
        vm.expectRevert(notOwner);
        merchants.setProductCard(merchantId, PRODUCT, "");
        vm.stopPrank();
    }

    /// [CHAIN-38] [CHAIN-39]
    function test_succeeds_whenASaleReadsItsTerms() public {
        vm.prank(merchant.addr);
        merchants.setProductTerms(merchantId, PRODUCT, COMMISSION_BPS, 9);
        (address payout, uint256 commissionBps, uint256 minPrice) = merchants.termsOfSale(merchantId, PRODUCT);
        assertEq(minPrice, 9);
        assertEq(payout, merchant.addr);
        assertEq(commissionBps, COMMISSION_BPS);
        vm.startPrank(merchant.addr);
        merchants.setProductActive(merchantId, PRODUCT, false);
        vm.expectRevert(abi.encodeWithSelector(MerchantRegistry.ProductNotActive.selector, merchantId, PRODUCT));
        merchants.termsOfSale(merchantId, PRODUCT);
        merchants.setActive(merchantId, false);
        vm.expectRevert(abi.encodeWithSelector(MerchantRegistry.MerchantNotActive.selector, merchantId));
        merchants.termsOfSale(merchantId, PRODUCT);
        vm.stopPrank();
    }
}
